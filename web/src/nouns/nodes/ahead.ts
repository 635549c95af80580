// Of all that is planned, what comes next to one node. Pure: rows in, the next one out.

interface Planned {
  starts_ms: number;
  nodes: readonly string[];
}

/** What begins first on a node, or has begun there. */
export function nextOn<T extends Planned>(node: string, rows: readonly T[] | undefined): T | null {
  const here = (rows ?? []).filter((each) => each.nodes.includes(node));
  return here.reduce<T | null>(
    (first, each) => (first === null || each.starts_ms < first.starts_ms ? each : first),
    null,
  );
}
