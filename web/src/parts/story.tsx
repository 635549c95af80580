// What happened to a thing: the sealed records about it that this person may read, the newest first.
import { useInfiniteQuery } from "@tanstack/react-query";
import { api, ask, type Schemas } from "@/api/client";
import { mayAnywhere, useWho } from "@/app/who";
import { Panel } from "./panel";
import { Loaded } from "./states";
import { Timeline } from "./timeline";

export interface StoryOf {
  subject: "entry" | "instance" | "invoice" | "node" | "policy" | "project" | "runtime" | "tenant";
  name?: string;
  tenant?: string;
  project?: string | null;
}

type Page = { items: Schemas["JournalRecord"][]; next?: string | null };

/** Nothing for who may not ask: the key is needed somewhere, and every record is judged by itself. */
export function Story({ of: wish }: { of: StoryOf }) {
  return mayAnywhere(useWho(), "iam.tenant.read") ? <Told wish={wish} /> : null;
}

function Told({ wish }: { wish: StoryOf }) {
  const query = useInfiniteQuery({
    queryKey: ["story", wish],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }): Promise<Page> => {
      const more = pageParam === null ? {} : { cursor: pageParam };
      const params = { query: { ...wish, ...more, limit: 50 } };
      return ask(api.GET("/v1/story", { params }));
    },
    getNextPageParam: (page) => page.next ?? null,
  });
  return (
    <Panel title="What happened" flush aside="newest first, each with its sealed record">
      <Loaded query={query}>
        {({ pages }) => (
          <>
            <Timeline records={pages.flatMap((page) => page.items)} />
            {query.hasNextPage && (
              <div className="p-2">
                <button
                  type="button"
                  className="button"
                  disabled={query.isFetchingNextPage}
                  onClick={() => void query.fetchNextPage()}
                >
                  Look further back
                </button>
              </div>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  );
}
