// The fleet as a picture: a strip for each node, a cell for each GPU, drawn on a canvas so that ten
// thousand nodes stay fluent. Data in, picture out; what a cell means is said by whoever gives it.
import { useEffect, useMemo, useRef, useState, type MouseEvent } from "react";
import { useShownTheme } from "@/app/theme";
import { layOut, stripAt, type Layout } from "./strips";

export interface Strip {
  name: string;
  /** Where its cells begin among all. */
  first: number;
  cells: number;
}

/** Which colour each cell has: a place among the colours; null stands for a free one. */
export interface Paint {
  colours: readonly (string | null)[];
  cells: Uint16Array;
}

interface HeatMapTerms {
  strips: Strip[];
  paint: Paint;
  label: string;
  /** What a cell of a strip is, in words. */
  told: (strip: number, cell: number) => string;
  onOpen: (name: string) => void;
}

export function HeatMap({ strips, paint, label, told, onOpen }: HeatMapTerms) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [tip, setTip] = useState<{ text: string; x: number; y: number } | null>(null);
  const theme = useShownTheme();
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) =>
      setWidth(Math.floor(entry?.contentRect.width ?? 0)),
    );
    if (frame.current !== null) watch.observe(frame.current);
    return () => watch.disconnect();
  }, []);
  const layout = useMemo(
    () =>
      layOut(
        strips.map((strip) => strip.cells),
        width,
      ),
    [strips, width],
  );
  // Not for a tip that moves: a picture of ten thousand nodes is drawn only when it changes.
  useEffect(() => {
    if (canvas.current !== null && width > 0) draw(canvas.current, strips, layout, paint);
  }, [strips, layout, paint, width, theme]);

  function point(event: MouseEvent) {
    const box = canvas.current?.getBoundingClientRect();
    if (box === undefined) return null;
    return stripAt(layout, event.clientX - box.left, event.clientY - box.top);
  }
  function move(event: MouseEvent) {
    const hit = point(event);
    if (hit === null) return setTip(null);
    const box = frame.current?.getBoundingClientRect();
    setTip({
      text: told(hit.strip, hit.cell),
      x: event.clientX - (box?.left ?? 0),
      y: event.clientY - (box?.top ?? 0),
    });
  }
  return (
    <div ref={frame} className="relative max-h-[60dvh] overflow-y-auto" data-theme-drawn={theme}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        className="block cursor-pointer"
        style={{ width, height: layout.height }}
        onMouseMove={move}
        onMouseLeave={() => setTip(null)}
        onClick={(event) => {
          const hit = point(event);
          const strip = hit === null ? undefined : strips[hit.strip];
          if (strip !== undefined) onOpen(strip.name);
        }}
      />
      {tip !== null && (
        <div
          className="panel pointer-events-none absolute z-10 max-w-64 px-2 py-1 text-xs whitespace-pre-line shadow-lg"
          style={{ left: Math.max(0, Math.min(tip.x + 12, width - 190)), top: tip.y + 14 }}
        >
          {tip.text}
        </div>
      )}
    </div>
  );
}

/** Pixel by pixel in memory, then at once: eighty thousand rectangles would be a long frame. */
function draw(canvas: HTMLCanvasElement, strips: Strip[], layout: Layout, paint: Paint): void {
  const scale = window.devicePixelRatio || 1;
  const wide = Math.round(layout.width * scale);
  const high = Math.round(layout.height * scale);
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  // Colours are read back as pixels, and the image is written at once: nothing for a GPU to do.
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  if (pen === null || wide === 0 || high === 0) return;
  const free = getComputedStyle(canvas).getPropertyValue("--line");
  const inks = Uint32Array.from(paint.colours, (colour) => ink(pen, colour ?? free));
  const image = pen.createImageData(wide, high);
  const pixels = new Uint32Array(image.data.buffer);
  const { cell, gap } = layout;
  strips.forEach((strip, at) => {
    const place = layout.places[at];
    if (place === undefined) return;
    const top = Math.round(place.y * scale);
    const bottom = Math.min(high, Math.round((place.y + cell) * scale));
    for (let index = 0; index < strip.cells; index += 1) {
      const x = place.x + index * (cell + gap);
      const left = Math.round(x * scale);
      const right = Math.min(wide, Math.round((x + cell) * scale));
      const wanted = inks[paint.cells[strip.first + index] ?? 0] ?? 0;
      for (let y = top; y < bottom; y += 1) pixels.fill(wanted, y * wide + left, y * wide + right);
    }
  });
  pen.putImageData(image, 0, 0);
}

/** A colour as the bytes of a pixel. */
function ink(pen: CanvasRenderingContext2D, colour: string): number {
  pen.clearRect(0, 0, 1, 1);
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  return new Uint32Array(pen.getImageData(0, 0, 1, 1).data.buffer)[0] ?? 0;
}
