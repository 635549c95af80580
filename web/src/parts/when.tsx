// A moment that people plan by: date and time of day on this person's clock, with its distance from
// UTC, and how far away it is.
import { clock } from "@/words/template";
import { Age, attribute } from "./age";

/** A column of such moments, without how far away they are. */
export const WHEN_WIDTH = "13.5rem";

export function When({ ms, isBare = false }: { ms: number; isBare?: boolean }) {
  return (
    <span>
      <time dateTime={attribute(ms)} className="whitespace-nowrap">
        {clock(ms)}
      </time>
      {!isBare && (
        <span className="text-muted">
          {" "}
          (<Age ms={ms} />)
        </span>
      )}
    </span>
  );
}
