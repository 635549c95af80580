// Lists that are fetched page by page: as one scrolls, or all of a bounded number at once.
import { useInfiniteQuery, useQueryClient, type QueryKey } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Page } from "./client";

export const PAGE_ROWS = 200;
const PAGE_ROWS_MAX = 500;
const PAGES_REFRESHED_MAX = 5;

type Fetch<T> = (query: { cursor?: string; limit: number }) => Promise<Page<T>>;

interface RowTerms {
  isOn?: boolean;
  /** Rows on one page; a list whose rows cost more to make has a lower bound. */
  limit?: number;
}

/** Whether this is a list of so many pages that news do not fetch all of them again. */
export function isLongList(data: unknown): boolean {
  if (typeof data !== "object" || data === null || !("pages" in data)) return false;
  return Array.isArray(data.pages) && data.pages.length > PAGES_REFRESHED_MAX;
}

/** Rows as they are scrolled to. What was fetched stays; the journal's news fetch it again. */
export function useRows<T>(
  queryKey: QueryKey,
  fetchPage: Fetch<T>,
  { isOn = true, limit = PAGE_ROWS }: RowTerms = {},
) {
  const client = useQueryClient();
  const key = [...queryKey, "rows"];
  const query = useInfiniteQuery({
    queryKey: key,
    enabled: isOn,
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) => fetchPage(withCursor(pageParam, limit)),
    getNextPageParam: (page: Page<T>) => page.next ?? null,
    refetchOnWindowFocus: false,
  });
  const pages = query.data?.pages;
  const rows = useMemo(() => pages?.flatMap((page) => page.items) ?? [], [pages]);
  const beginAgain = () => client.resetQueries({ queryKey: key, exact: true });
  return { query, rows, isLong: isLongList(query.data), beginAgain };
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
