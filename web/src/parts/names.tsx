// Nodes by their names: the first of them, each a link to its page, and how many more there are.
import { count } from "@/words/amounts";
import { NodeLink } from "./links";

const SHOWN_MAX = 64;

export function NodeNames({ names }: { names: readonly string[] }) {
  if (names.length === 0) return <span className="text-muted">none</span>;
  const rest = names.length - SHOWN_MAX;
  return (
    <span className="flex flex-wrap gap-x-3 gap-y-1">
      {names.slice(0, SHOWN_MAX).map((name) => (
        <NodeLink key={name} name={name} />
      ))}
      {rest > 0 && <span className="text-muted">and {count(rest)} more</span>}
    </span>
  );
}
