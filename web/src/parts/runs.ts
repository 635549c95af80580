// Records of the same kind by the same actor that follow each other: told as one, if they are many.

const MANY = 6;

interface Told {
  kind: string;
  actor: string;
}

/** The records in their order, each alone or with those that it is told with. */
export function inRuns<Row extends Told>(records: Row[]): Row[][] {
  const runs: Row[][] = [];
  for (const record of records) {
    const last = runs.at(-1);
    const before = last?.[0];
    if (last !== undefined && before?.kind === record.kind && before.actor === record.actor) {
      last.push(record);
    } else {
      runs.push([record]);
    }
  }
  return runs.flatMap((run) => (run.length < MANY ? run.map((record) => [record]) : [run]));
}
