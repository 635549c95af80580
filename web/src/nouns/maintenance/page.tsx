// One window of maintenance: which nodes, from when until when, and how far it has come.
import { useNavigate, useParams } from "@tanstack/react-router";
import { may, useWho } from "@/app/who";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { NodeNames } from "@/parts/names";
import { ObjectPage } from "@/parts/object-page";
import { Facts, Panel } from "@/parts/panel";
import { Loaded } from "@/parts/states";
import { When } from "@/parts/when";
import { span } from "@/words/amounts";
import { cancelWindow, useWindow, type Window } from "./queries";
import { windowTone } from "./tones";

export function Page() {
  const { window } = useParams({ strict: false }) as { window: string };
  const query = useWindow(window);
  return <Loaded query={query}>{(found) => <WindowView found={found} />}</Loaded>;
}

function WindowView({ found }: { found: Window }) {
  const self = useWho();
  const navigate = useNavigate();
  return (
    <ObjectPage
      noun="window"
      name={found.window}
      state={<Badge word={found.phase} tone={windowTone(found.phase)} />}
      command={`bailiwick maintenance show ${found.window}`}
      actions={
        may(self, "scheduler.node.operate") && (
          <Action
            label="Cancel it"
            title={`Cancel ${found.window}?`}
            isBad
            change={(dryRun) => cancelWindow(found.window, dryRun)}
            onDone={() => navigate({ to: "/maintenance" })}
          >
            <p>
              {found.phase === "planned"
                ? "Work may start there again that would not have ended before."
                : "It is over, and its nodes take work again. Who was warned goes all the same."}
            </p>
          </Action>
        )
      }
    >
      <Panel title="When, and what for">
        <Facts
          rows={[
            ["from", <When ms={found.starts_ms} />],
            ["until", <When ms={found.ends_ms} />],
            ["nodes closed", `${span(found.lead_ms)} before`],
            ["calendar", found.calendar],
            ["text", found.text || null],
          ]}
        />
      </Panel>
      <Panel title="Which nodes">
        <Facts
          rows={[
            ["nodes", <NodeNames names={found.nodes} />],
            ["not empty yet", <NodeNames names={found.late} />],
          ]}
        />
      </Panel>
    </ObjectPage>
  );
}
