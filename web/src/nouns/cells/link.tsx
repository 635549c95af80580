import { Link } from "@tanstack/react-router";

export function CellLink({ cell }: { cell: string }) {
  return (
    <Link to="/cells/$cell" params={{ cell }} className="link">
      {cell}
    </Link>
  );
}
