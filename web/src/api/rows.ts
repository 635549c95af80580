// Lists that are fetched page by page: as one scrolls, or all of a bounded number at once.
import { useInfiniteQuery, type QueryKey } from "@tanstack/react-query";
import type { Page } from "./client";

export const PAGE_ROWS = 200;
const PAGE_ROWS_MAX = 500;

type Fetch<T> = (query: { cursor?: string; limit: number }) => Promise<Page<T>>;

interface RowTerms {
  isOn?: boolean;
  /** Rows on one page; a list whose rows cost more to make has a lower bound. */
  limit?: number;
}

/** Rows as they are scrolled to. What was fetched stays; the journal's news fetch it again. */
export function useRows<T>(
  queryKey: QueryKey,
  fetchPage: Fetch<T>,
  { isOn = true, limit = PAGE_ROWS }: RowTerms = {},
) {
  const query = useInfiniteQuery({
    queryKey: [...queryKey, "rows"],
    enabled: isOn,
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) => fetchPage(withCursor(pageParam, limit)),
    getNextPageParam: (page: Page<T>) => page.next ?? null,
    // Many pages make a costly refresh: beyond the first few, only what is asked for anew.
    refetchOnWindowFocus: false,
  });
  const rows = query.data?.pages.flatMap((page) => page.items) ?? [];
  return { query, rows };
}

/** All rows up to a bound, and whether there are more. */
export async function allRows<T>(
  fetchPage: Fetch<T>,
  most: number,
): Promise<{ rows: T[]; isCut: boolean }> {
  const rows: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await fetchPage(withCursor(cursor, PAGE_ROWS_MAX));
    rows.push(...page.items);
    cursor = page.next ?? null;
  } while (cursor !== null && rows.length < most);
  return { rows: rows.slice(0, most), isCut: cursor !== null };
}

function withCursor(cursor: string | null, limit: number): { cursor?: string; limit: number } {
  return cursor === null ? { limit } : { cursor, limit };
}
