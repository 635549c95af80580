// One cell: whether it is reached and if not, why; what is free there, and which requests it has.
import { useNavigate, useParams } from "@tanstack/react-router";
import { may, useWho } from "@/app/who";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { ObjectPage } from "@/parts/object-page";
import { Facts, Panel } from "@/parts/panel";
import { Loaded } from "@/parts/states";
import { amount, count } from "@/words/amounts";
import { partWith, useCell, type Cell } from "./queries";
import { GlobalRequests } from "./requests";
import { standingTone } from "./tones";

export function Page() {
  const { cell } = useParams({ strict: false }) as { cell: string };
  const query = useCell(cell);
  return <Loaded query={query}>{(found) => <CellView found={found} />}</Loaded>;
}

function CellView({ found }: { found: Cell }) {
  const self = useWho();
  const { free_gpu_milli: gpus, free_cpu_milli: cores, heard_ms: heard, trouble } = found;
  const free =
    gpus === null || cores === null
      ? "not known"
      : `${amount("gpu_milli", gpus)}, ${amount("cpu_milli", cores)}`;
  return (
    <ObjectPage
      noun="cell"
      name={found.cell}
      state={<Badge word={found.standing} tone={standingTone(found.standing)} />}
      command={`bailiwick cell show ${found.cell}`}
      actions={may(self, "scheduler.cell.operate") && <Leave found={found} />}
    >
      <Panel title="How it stands">
        <Facts
          rows={[
            ["address", found.url],
            ["epoch", count(found.epoch)],
            ["requests", count(found.requests)],
            ["last reply", heard === null ? "not known" : <Age ms={heard} />],
            ["free there", free],
            ["trouble", trouble && <span className="text-bad">{trouble}</span>],
          ]}
        />
      </Panel>
      <GlobalRequests cell={found.cell} />
    </ObjectPage>
  );
}

/** A cell without requests is parted with; one that is silent may be given up with all it has. */
function Leave({ found }: { found: Cell }) {
  const navigate = useNavigate();
  const leave = () => navigate({ to: "/cells" });
  const { cell, requests } = found;
  const told = requests === 1 ? "1 request" : `${count(requests)} requests`;
  if (requests === 0) {
    return (
      <Action
        label="Part with it"
        title={`Part with ${cell}?`}
        isBad
        change={(dryRun) => partWith(cell, false, dryRun)}
        onDone={leave}
      >
        <p>It gets nothing of this plane any more. To come back it has to join again.</p>
      </Action>
    );
  }
  if (found.standing !== "cut_off") return null;
  return (
    <Action
      label="Give it up as lost"
      title={`Give up ${cell} with ${told}?`}
      isBad
      change={(dryRun) => partWith(cell, true, dryRun)}
      onDone={leave}
    >
      <p>
        Only if it is gone for good, and nothing runs there: whatever still runs there is forgotten
        here, and counts against nobody.
      </p>
    </Action>
  );
}
