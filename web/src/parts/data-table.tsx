// A short table: all of its rows are there. On a narrow screen it scrolls sideways inside itself.
import type { ReactNode } from "react";

export interface Cell<T> {
  header: string;
  align?: "right";
  cell: (row: T) => ReactNode;
}

interface DataTableTerms<T> {
  label: string;
  cells: Cell<T>[];
  rows: T[];
  rowId: (row: T) => string | number;
}

export function DataTable<T>({ label, cells, rows, rowId }: DataTableTerms<T>) {
  const side = (cell: Cell<T>) => (cell.align === "right" ? "text-right" : "text-left");
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={`${label}, scrollable`}>
      <table className="w-full" aria-label={label}>
        <thead>
          <tr className="border-b border-line">
            {cells.map((cell) => (
              <th
                key={cell.header}
                scope="col"
                className={`px-4 py-2 text-xs font-medium whitespace-nowrap text-muted ${side(cell)}`}
              >
                {cell.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowId(row)} className="border-b border-line/60 last:border-0">
              {cells.map((cell) => (
                <td key={cell.header} className={`px-4 py-2 align-middle ${side(cell)}`}>
                  {cell.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
