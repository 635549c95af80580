// What is known of a machine's health: findings with their numbers, tests and how they ended, and a
// text for whoever repairs it. The server tells it to who may read the whole fleet.
import { Dialog } from "@base-ui/react/dialog";
import { useState, type ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { may, useWho } from "@/app/who";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { CopyButton } from "@/parts/copy";
import { Facts, Panel } from "@/parts/panel";
import { Sheet } from "@/parts/sheet";
import { Loaded } from "@/parts/states";
import { When } from "@/parts/when";
import { spell, span } from "@/words/amounts";
import { toldFindings } from "@/words/sentences";
import { useSentences } from "@/words/server-words";
import { haveTested, useTicket } from "./queries";
import { levelTone, outcomeTone } from "./tones";

type Health = Schemas["HealthStanding"];

export function HealthPanel({ node, health }: { node: string; health: Health }) {
  const self = useWho();
  const rows: [string, ReactNode][] = [
    ["health", <Sum health={health} />],
    ...(health.findings.length > 0
      ? [["findings", <Findings health={health} />] as [string, ReactNode]]
      : []),
    ...(health.test != null
      ? [["test", <Running test={health.test} />] as [string, ReactNode]]
      : []),
    ["last tests", <Tests health={health} />],
  ];
  return (
    <Panel
      title="Health"
      aside={
        <div className="flex flex-wrap gap-2">
          <Ticket node={node} />
          {health.can_test && health.test == null && may(self, "scheduler.node.operate") && (
            <Action
              label="Have it tested"
              title={`Have ${node} tested now?`}
              change={(dryRun) => haveTested(node, dryRun)}
            >
              <p>
                Its agent makes all checks, and a burn-in of its GPUs. A node that takes work is
                closed meanwhile.
              </p>
            </Action>
          )}
        </div>
      }
    >
      <Facts rows={rows} />
    </Panel>
  );
}

function Sum({ health }: { health: Health }) {
  const sentences = useSentences();
  const closed = health.closed ?? "none";
  const tone = health.findings[0] === undefined ? "good" : levelTone(health.findings[0].level);
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      <Badge word={toldFindings(health.findings)} tone={tone} />
      {health.failed_ms != null && (
        <span>
          since <When ms={health.failed_ms} />
          {closed !== "none" && ";"}
        </span>
      )}
      {closed !== "none" && <span>{sentences.word("health_action", closed)}</span>}
    </span>
  );
}

function Findings({ health }: { health: Health }) {
  const sentences = useSentences();
  return (
    <ul className="space-y-1">
      {health.findings.map((each) => (
        <li key={`${each.check} ${each.gpu} ${each.code}`}>
          <Badge word={each.level} tone={levelTone(each.level)} /> {sentences.finding(each)}
        </li>
      ))}
    </ul>
  );
}

function Running({ test }: { test: Schemas["RunningTest"] }) {
  return (
    <>
      goes on ({spell(test.cause)}), at most until <When ms={test.due_ms} />
    </>
  );
}

function Tests({ health }: { health: Health }) {
  const sentences = useSentences();
  const tests = health.tests ?? [];
  if (tests.length === 0) return health.can_test ? "none yet" : "its agent cannot test";
  return (
    <ul className="space-y-1">
      {tests.map((each) => (
        <li key={each.test_id}>
          <Badge
            word={sentences.word("node_test_outcome", each.outcome)}
            tone={outcomeTone(each.outcome)}
          />{" "}
          <Age ms={each.ended_ms} />
          {each.took_ms != null && `, after ${span(each.took_ms)}`}{" "}
          <span className="text-muted">({spell(each.cause)})</span>
        </li>
      ))}
    </ul>
  );
}

/** Made when it is asked for: it tells how things stand at that moment. */
function Ticket({ node }: { node: string }) {
  const [isOpen, setOpen] = useState(false);
  const query = useTicket(node, isOpen);
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        Read its ticket
      </button>
      <Sheet isOpen={isOpen} setOpen={setOpen}>
        <Dialog.Title className="border-b border-line px-4 py-3 font-semibold">
          A ticket about {node}
        </Dialog.Title>
        <div className="space-y-3 p-4">
          <Dialog.Description className="text-muted">
            For whoever repairs the machine: it names no tenant.
          </Dialog.Description>
          <Loaded query={query} lines={8}>
            {(ticket) => (
              <div className="flex items-start gap-1 rounded-md bg-raised px-3 py-2">
                <pre
                  className="min-w-0 flex-1 font-mono text-xs break-words whitespace-pre-wrap"
                  aria-label="The ticket's text"
                >
                  {ticket.text}
                </pre>
                <CopyButton text={ticket.text} label="Copy the ticket" />
              </div>
            )}
          </Loaded>
          <div className="flex justify-end">
            <Dialog.Close className="button">Close</Dialog.Close>
          </div>
        </div>
      </Sheet>
    </>
  );
}
