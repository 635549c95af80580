// A list page's body: rows as they are scrolled to, or what stands in their place.
import { useMemo, type ReactNode } from "react";
import { useRows } from "@/api/rows";
import { Age } from "./age";
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
  isPlain?: boolean;
}

export function RowList<T extends object>({
  label,
  rows,
  columns,
  rowId,
  empty,
  keep,
  heightMax,
  isPlain,
}: RowListTerms<T>) {
  const { query } = rows;
  const all = rows.rows;
  const shown = useMemo(() => (keep === undefined ? all : all.filter(keep)), [all, keep]);
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
          isPlain={isPlain}
        />
      )}
      {rows.isLong && (
        <p className="flex flex-wrap items-center gap-2 border-t border-line px-4 py-2 text-xs text-muted">
          <span>
            Of so many rows none is fetched again by itself; the newest are of{" "}
            <Age ms={query.dataUpdatedAt} />.
          </span>
          <button type="button" className="link" onClick={() => void rows.beginAgain()}>
            Begin again
          </button>
        </p>
      )}
    </div>
  );
}
