// One request that waits: why, what would unblock it, and the way out of the line.
import { useNavigate, useParams } from "@tanstack/react-router";
import type { Schemas } from "@/api/client";
import { may, useWho } from "@/app/who";
import { Age, useNow } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { JobLink, PlaceLink } from "@/parts/links";
import { ObjectPage } from "@/parts/object-page";
import { Story } from "@/parts/story";
import { Facts, Panel } from "@/parts/panel";
import { Loaded } from "@/parts/states";
import { span } from "@/words/amounts";
import { askedSentence } from "@/words/sentences";
import { reasonTone } from "@/words/tones";
import { cancelEntry, useEntry } from "./queries";
import { WhatIf } from "./whatif";
import { Waiting, Why } from "./why";

export function Page() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useEntry(Number(id));
  return <Loaded query={query}>{(entry) => <EntryView entry={entry} />}</Loaded>;
}

function EntryView({ entry }: { entry: Schemas["QueueEntry"] }) {
  const self = useWho();
  const now = useNow();
  const navigate = useNavigate();
  const asked = entry.request;
  return (
    <ObjectPage
      noun="queue entry"
      name={String(entry.entry_id)}
      state={<Badge word={entry.reason} tone={reasonTone(entry.reason)} />}
      command={`bailiwick explain entry-${entry.entry_id}`}
      actions={
        may(self, "scheduler.queue.cancel", entry) && (
          <Action
            label="Take it out of the line"
            title={`Cancel queue entry ${entry.entry_id}?`}
            isBad
            change={(dryRun) => cancelEntry(entry.entry_id, dryRun)}
            onDone={() => navigate({ to: "/queue" })}
          >
            <p>The request is given up. Its place in the line is lost.</p>
          </Action>
        )
      }
    >
      <Panel title="What would unblock it">
        <Waiting entry={entry} now={now} />
      </Panel>
      <Panel title="Why it waits">
        <Why entry={entry} />
      </Panel>
      <WhatIf entry={entry} />
      <Panel title="What">
        <Facts
          rows={[
            ["project", <PlaceLink tenant={entry.tenant} project={entry.project} />],
            ["job", entry.job_id ? <JobLink id={entry.job_id} /> : null],
            ["waits since", <Age ms={entry.submitted_ms} />],
            ["asks for", asked ? askedSentence(asked) : null],
            ["priority", asked ? `${asked.priority}, ${asked.lease_class}` : null],
            ["for at most", asked ? span(asked.ttl_ms) : null],
            ["raised by age", entry.raised > 0 ? `${entry.raised} steps` : "no"],
          ]}
        />
      </Panel>
      <Story of={{ subject: "entry", name: String(entry.entry_id), tenant: entry.tenant }} />
    </ObjectPage>
  );
}
