// What its work used, in units of the app, as its operator told it.
import { Age } from "@/parts/age";
import { DataTable, type Cell } from "@/parts/data-table";
import { Panel } from "@/parts/panel";
import type { Schemas } from "@/api/client";
import { useMay } from "@/app/may";
import { count, spell } from "@/words/amounts";
import { useToldUsage, type InstancePath } from "./queries";

const CELLS: Cell<Schemas["UnitTold"]>[] = [
  { header: "unit", cell: (row) => spell(row.unit) },
  { header: "by", cell: (row) => row.component_key ?? "all of it" },
  { header: "how much", align: "right", cell: (row) => count(row.quantity) },
  { header: "told until", align: "right", cell: (row) => <Age ms={row.told_until_ms} /> },
];

export function ToldUsage({ path }: { path: InstancePath }) {
  const isOn = useMay(path.tenant, path.project)("instance_usage.read");
  const { data } = useToldUsage(path, isOn);
  if (data === undefined || data.units.length === 0) return null;
  return (
    <Panel title="What its work used" flush aside="as its operator told it">
      <DataTable
        label="What its work used"
        cells={CELLS}
        rows={data.units}
        rowId={(row) => `${row.unit}/${row.component_key ?? ""}`}
      />
    </Panel>
  );
}
