// What does not agree, the newest first, each with the sealed record behind it.
import { useState } from "react";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { CommandLine } from "@/parts/copy";
import { PlaceLink, RecordLink } from "@/parts/links";
import { PageHead } from "@/parts/object-page";
import { RowList } from "@/parts/row-list";
import { Empty } from "@/parts/states";
import type { Column } from "@/parts/table";
import { spell } from "@/words/amounts";
import { findingTone, useFindings, type Finding } from "./queries";

export const FINDING_COLUMNS: Column<Finding>[] = [
  {
    id: "finding",
    header: "finding",
    width: "minmax(12rem,1fr)",
    cell: (row) => spell(row.finding),
  },
  {
    id: "severity",
    header: "severity",
    width: "8rem",
    cell: (row) => <Badge word={row.severity} tone={findingTone(row.severity)} />,
  },
  {
    id: "of",
    header: "of",
    width: "minmax(9rem,1fr)",
    cell: (row) => <PlaceLink tenant={row.tenant} project={row.project} />,
  },
  { id: "subject", header: "about", width: "minmax(10rem,1fr)", cell: (row) => row.subject },
  {
    id: "note",
    header: "note",
    width: "minmax(14rem,2fr)",
    cell: (row) => <span title={row.note ?? undefined}>{row.note ?? "-"}</span>,
  },
  {
    id: "seq",
    header: "record",
    width: "6rem",
    align: "right",
    cell: (row) => <RecordLink tenant={row.tenant} seq={row.seq} />,
  },
  { id: "at", header: "at", width: "7rem", align: "right", cell: (row) => <Age ms={row.at_ms} /> },
];

export function Page() {
  const [word, setWord] = useState("");
  const rows = useFindings(null);
  const words = [...new Set(rows.rows.map((row) => row.finding))].sort();
  return (
    <>
      <PageHead title="Findings">
        <select
          aria-label="Which findings"
          className="field w-auto"
          value={word}
          onChange={(event) => setWord(event.target.value)}
        >
          <option value="">all findings</option>
          {words.map((each) => (
            <option key={each} value={each}>
              {spell(each)}
            </option>
          ))}
        </select>
      </PageHead>
      <RowList
        label="Findings"
        rows={rows}
        columns={FINDING_COLUMNS}
        rowId={(row) => row.seq}
        keep={(row) => word === "" || row.finding === word}
        empty={<Empty title="Nothing disagrees">What nodes counted is what the journal says.</Empty>}
      />
      <div className="mt-4">
        <CommandLine command="bailiwick finding list" />
      </div>
    </>
  );
}
