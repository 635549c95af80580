// A list page's body: rows as they are scrolled to, or what stands in their place.
import type { ReactNode } from "react";
import { useRows } from "@/api/rows";
import { Failed, Skeleton } from "./states";
import { VirtualTable, type Column } from "./table";

interface RowListTerms<T> {
  label: string;
  rows: ReturnType<typeof useRows<T>>;
  columns: Column<T>[];
  rowId: (row: T) => string | number;
  empty: ReactNode;
  keep?: (row: T) => boolean;
  heightMax?: string;
}

export function RowList<T extends object>({
  label,
  rows,
  columns,
  rowId,
  empty,
  keep,
  heightMax,
}: RowListTerms<T>) {
  const { query } = rows;
  const shown = keep === undefined ? rows.rows : rows.rows.filter(keep);
  if (query.isPending && query.fetchStatus !== "idle") {
    return (
      <div className="panel p-4">
        <Skeleton lines={8} />
      </div>
    );
  }
  return (
    <div className="panel">
      {query.isError && (
        <div className="p-3">
          <Failed error={query.error} retry={() => void query.refetch()} />
        </div>
      )}
      {shown.length === 0 && !query.isError && !query.hasNextPage ? (
        empty
      ) : (
        <VirtualTable
          label={label}
          columns={columns}
          rows={shown}
          rowId={rowId}
          hasMore={query.hasNextPage}
          isFetching={query.isFetchingNextPage}
          fetchMore={() => void query.fetchNextPage()}
          heightMax={heightMax}
        />
      )}
    </div>
  );
}
