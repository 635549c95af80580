import { expect, test } from "vitest";
import { layOut, stripAt } from "./strips";

test("every cell of ten thousand nodes is found again under its own middle", () => {
  const counts = Array.from({ length: 10_000 }, (_, at) => (at % 3 === 0 ? 4 : 8));
  const layout = layOut(counts, 1_200);
  const wrong = layout.places.flatMap((place, strip) =>
    Array.from({ length: place.cells }, (_, cell) => {
      const x = place.x + cell * (layout.cell + layout.gap) + layout.cell / 2;
      const found = stripAt(layout, x, place.y + 1);
      return x < 1_200 && found?.strip === strip && found.cell === cell ? null : [strip, cell];
    }).filter((each) => each !== null),
  );
  expect(wrong).toEqual([]);
  expect(stripAt(layout, 5_000, 1)).toBeNull();
});
