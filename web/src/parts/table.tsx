// A table of any length: only the rows in sight are drawn, and pages are fetched as one scrolls.
// On a narrow screen it scrolls sideways inside itself, never the page.
import { flexRender, tableFeatures, useTable, type ColumnDef } from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useMemo, useRef, type ReactNode } from "react";

const FEATURES = tableFeatures({});
const ROW_PX = 36;
/** Slots grow by so many, so that a row more or less in sight moves none. */
const SLOTS_STEP = 32;

export interface Column<T> {
  id: string;
  header: string;
  /** A track of the grid: "8rem", "minmax(10rem,1fr)". */
  width: string;
  align?: "right";
  cell: (row: T) => ReactNode;
}

interface TableTerms<T> {
  label: string;
  columns: Column<T>[];
  rows: T[];
  rowId: (row: T) => string | number;
  hasMore?: boolean;
  isFetching?: boolean;
  fetchMore?: () => void;
  /** As tall as its rows, up to this. */
  heightMax?: string;
  /** Whether its cells keep nothing to themselves (no dialog, no button that remembers): then a row
      that comes into sight takes over the elements of one that left, which costs half. */
  isPlain?: boolean;
}

const NO_ROWS: never[] = [];

function side<T>(column: Column<T> | undefined): string {
  return column?.align === "right" ? "text-right" : "";
}

interface RowTerms<T> {
  row: T;
  columns: Column<T>[];
  tracks: string;
  index: number;
  start: number;
}

/** Drawn once: of a table that scrolls, only the rows that come into sight are new. */
const Row = memo(function Row({ row, columns, tracks, index, start }: RowTerms<object>) {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className="absolute inset-x-0 grid items-center border-b border-line/60 px-2 contain-strict hover:bg-raised"
      style={{ gridTemplateColumns: tracks, height: ROW_PX, top: start }}
    >
      {columns.map((column) => (
        <div key={column.id} role="cell" className={`truncate px-2 ${side(column)}`}>
          {column.cell(row)}
        </div>
      ))}
    </div>
  );
}) as <T>(terms: RowTerms<T>) => ReactNode;

function definition<T extends object>(column: Column<T>): ColumnDef<typeof FEATURES, T> {
  return { id: column.id, header: column.header, cell: ({ row }) => column.cell(row.original) };
}

export function VirtualTable<T extends object>(terms: TableTerms<T>) {
  const { columns, rows, hasMore = false, isFetching = false, fetchMore } = terms;
  const frame = useRef<HTMLDivElement>(null);
  const defs = useMemo(() => columns.map(definition), [columns]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    overscan: 6,
  });
  const items = virtual.getVirtualItems();
  // Never fewer than there are: no two rows in sight may have the same place.
  const slots = Math.ceil((items.length + 1) / SLOTS_STEP) * SLOTS_STEP;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && !isFetching && last >= rows.length - 40) fetchMore?.();
  }, [hasMore, isFetching, last, rows.length, fetchMore]);
  // The columns alone go through the table's model: one of a hundred thousand rows costs a frame.
  const table = useTable({ features: FEATURES, columns: defs, data: NO_ROWS as T[] });
  const tracks = columns.map((column) => column.width).join(" ");
  const grid = { gridTemplateColumns: tracks };
  return (
    <div
      ref={frame}
      role="table"
      aria-label={terms.label}
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      tabIndex={0}
      className="overflow-auto"
      style={{ maxHeight: terms.heightMax ?? "calc(100dvh - 13rem)" }}
    >
      <div className="w-max min-w-full">
        <div role="rowgroup" className="sticky top-0 z-10 bg-panel">
          <div
            role="row"
            aria-rowindex={1}
            className="grid h-9 items-center border-b border-line px-2"
            style={grid}
          >
            {table.getHeaderGroups()[0]?.headers.map((header, at) => (
              <div
                key={header.id}
                role="columnheader"
                className={`truncate px-2 text-xs font-medium text-muted ${side(columns[at])}`}
              >
                {flexRender(header.column.columnDef.header, header.getContext())}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            return (
              <Row
                key={terms.isPlain ? item.index % slots : terms.rowId(row)}
                row={row}
                columns={columns}
                tracks={tracks}
                index={item.index}
                start={item.start}
              />
            );
          })}
        </div>
      </div>
      {isFetching && (
        <p role="status" className="sticky left-0 px-4 py-2 text-xs text-muted">
          loading more
        </p>
      )}
    </div>
  );
}
