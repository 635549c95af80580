// Where a text is wrong, as pieces of its lines: the server counts lines and characters from 1, and
// characters as people do, not as UTF-16 does.
import type { Schemas } from "@/api/client";

export type Problem = Schemas["IsolationProblem"];

export interface Piece {
  text: string;
  problem: Problem | null;
}

/** Each line in pieces; what is wrong at the end of a line is a space of its own. */
export function piecesOf(text: string, problems: Problem[]): Piece[][] {
  return text.split("\n").map((line, at) => {
    const here = problems
      .filter((problem) => problem.line === at + 1)
      .sort((one, other) => one.column - other.column);
    const chars = Array.from(line);
    const pieces: Piece[] = [];
    let done = 0;
    for (const problem of here) {
      if (problem.column - 1 < done) continue; // inside the one before
      const start = Math.min(problem.column - 1, chars.length);
      const length = Math.max(1, Array.from(problem.found).length);
      const end = Math.min(start + length, chars.length);
      if (start > done) pieces.push({ text: chars.slice(done, start).join(""), problem: null });
      pieces.push({ text: chars.slice(start, end).join("") || " ", problem });
      done = Math.max(done, end);
    }
    if (done < chars.length || pieces.length === 0) {
      pieces.push({ text: chars.slice(done).join(""), problem: null });
    }
    return pieces;
  });
}

/** Where in the text a problem stands, as a text field counts. */
export function offsetOf(text: string, problem: Problem): [number, number] {
  const lines = text.split("\n");
  const before = lines.slice(0, problem.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
  const chars = Array.from(lines[problem.line - 1] ?? "");
  const start = before + chars.slice(0, problem.column - 1).join("").length;
  return [start, start + problem.found.length];
}
