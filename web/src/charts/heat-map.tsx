// The fleet as a picture: a strip for each node, a cell for each GPU, drawn on a canvas so that ten
// thousand nodes stay fluent. Data in, picture out; what a cell means is said by whoever gives it.
import { useEffect, useMemo, useRef, useState, type MouseEvent } from "react";
import { useShownTheme } from "@/app/theme";
import { layOut, stripAt, type Layout } from "./strips";

export interface Strip {
  name: string;
  /** One colour for each device; null where it is free. */
  cells: (string | null)[];
}

interface HeatMapTerms {
  strips: Strip[];
  label: string;
  /** What a cell of a strip is, in words. */
  told: (strip: number, cell: number) => string;
  onOpen: (name: string) => void;
}

export function HeatMap({ strips, label, told, onOpen }: HeatMapTerms) {
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
        strips.map((strip) => strip.cells.length),
        width,
      ),
    [strips, width],
  );
  // Not for a tip that moves: a picture of ten thousand nodes is drawn only when it changes.
  useEffect(() => {
    if (canvas.current !== null && width > 0) draw(canvas.current, strips, layout);
  }, [strips, layout, width, theme]);

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

function draw(canvas: HTMLCanvasElement, strips: Strip[], layout: Layout): void {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(layout.width * scale);
  canvas.height = Math.round(layout.height * scale);
  const pen = canvas.getContext("2d");
  if (pen === null) return;
  pen.scale(scale, scale);
  const free = getComputedStyle(canvas).getPropertyValue("--line");
  const { cell, gap } = layout;
  let held = "";
  strips.forEach((strip, at) => {
    const place = layout.places[at];
    if (place === undefined) return;
    strip.cells.forEach((colour, index) => {
      const wanted = colour ?? free;
      // To name a colour costs more than to paint a cell with it.
      if (wanted !== held) pen.fillStyle = held = wanted;
      pen.fillRect(place.x + index * (cell + gap), place.y, cell, cell);
    });
  });
}
