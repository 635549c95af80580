// Where each strip of the heat map lies, and what lies under a point. Pure: numbers in, numbers out.

export interface Layout {
  width: number;
  height: number;
  cell: number;
  gap: number;
  places: { x: number; y: number; cells: number }[];
}

const MANY = 1_500;

/** Strips from left to right and top to bottom; cells are smaller where there are very many. */
export function layOut(counts: number[], width: number): Layout {
  const cells = counts.reduce((sum, many) => sum + many, 0);
  const cell = cells > 20_000 ? 4 : cells > MANY ? 8 : 13;
  const gap = cell > 4 ? 2 : 1;
  const between = cell;
  const places: Layout["places"] = [];
  let x = 0;
  let y = 0;
  for (const many of counts) {
    const wide = many * (cell + gap) - gap;
    if (x > 0 && x + wide > width) {
      x = 0;
      y += cell + gap * 3;
    }
    places.push({ x, y, cells: many });
    x += wide + between;
  }
  return { width, height: counts.length === 0 ? 0 : y + cell, cell, gap, places };
}

/** Which strip and cell lie under a point. Rows are in order, so a search by halves finds it. */
export function stripAt(
  layout: Layout,
  x: number,
  y: number,
): { strip: number; cell: number } | null {
  const { places, cell, gap } = layout;
  let low = 0;
  let high = places.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const place = places[middle];
    if (place === undefined) return null;
    const wide = place.cells * (cell + gap);
    if (y < place.y || (y <= place.y + cell && x < place.x)) high = middle - 1;
    else if (y > place.y + cell || x > place.x + wide) low = middle + 1;
    else
      return {
        strip: middle,
        cell: Math.min(place.cells - 1, Math.floor((x - place.x) / (cell + gap))),
      };
  }
  return null;
}
