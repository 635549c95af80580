// A chart drawn by ECharts as SVG, under a policy that allows nothing inline: no animation (it adds
// style elements), tooltips as drawn text (the other kind assigns HTML), colours from the theme.
import { BarChart, LineChart } from "echarts/charts";
import {
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
} from "echarts/components";
import { init, use as useParts, type EChartsCoreOption } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import { useEffect, useRef } from "react";

useParts([
  ...[BarChart, LineChart, GridComponent, LegendComponent, MarkLineComponent],
  ...[TooltipComponent, SVGRenderer],
]);

export interface Theme {
  ink: string;
  muted: string;
  line: string;
  accent: string;
  bad: string;
  panel: string;
  font: string;
  series: string[];
}

const SERIES = {
  light: ["#0f6b63", "#c2570c", "#4f5bd5", "#a3337f", "#5b7f1f", "#1d7fa6", "#8a6d1b", "#7b5a4a"],
  dark: ["#5cc9bb", "#f2a65a", "#9aa5ff", "#ee8fc9", "#a9d065", "#6cc4e8", "#e0c35e", "#cba893"],
};

function themeNow(): Theme {
  const root = document.documentElement;
  const style = getComputedStyle(root);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: read("--ink"),
    muted: read("--muted"),
    line: read("--line"),
    accent: read("--accent"),
    bad: read("--bad"),
    panel: read("--panel"),
    // Measured by the chart itself, so it has to be the very font.
    font: getComputedStyle(document.body).fontFamily,
    series: root.dataset["theme"] === "dark" ? SERIES.dark : SERIES.light,
  };
}

interface ChartTerms {
  /** What a person who does not see it is told; the numbers are in a table beside it. */
  label: string;
  /** Made anew when the theme changes; the same function while nothing else has changed. */
  option: (theme: Theme) => EChartsCoreOption;
  height?: number;
}

export default function Chart({ label, option, height = 260 }: ChartTerms) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const chart = init(element, null, { renderer: "svg" });
    const draw = () => chart.setOption({ animation: false, ...option(themeNow()) }, true);
    draw();
    const sized = new ResizeObserver(() => chart.resize());
    sized.observe(element);
    const themed = new MutationObserver(draw);
    themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      sized.disconnect();
      themed.disconnect();
      // It would empty its elements by assigning HTML, which Trusted Types refuse.
      Object.assign(chart.getZr().painter, { root: null, _svgDom: null });
      chart.dispose();
      element.replaceChildren();
    };
  }, [option]);
  return <div ref={frame} role="img" aria-label={label} className="w-full" style={{ height }} />;
}

/** What all our charts have in common. */
export function common(theme: Theme) {
  const text = { color: theme.muted, fontSize: 12 };
  return {
    color: theme.series,
    textStyle: { fontFamily: theme.font },
    grid: { left: 8, right: 16, top: 36, bottom: 4, containLabel: true },
    legend: {
      top: 0,
      left: 0,
      icon: "roundRect",
      itemWidth: 14,
      itemHeight: 10,
      itemGap: 18,
      textStyle: { color: theme.ink, fontFamily: theme.font },
    },
    tooltip: {
      trigger: "axis",
      renderMode: "richText",
      backgroundColor: theme.panel,
      borderColor: theme.line,
      textStyle: { color: theme.ink, fontSize: 12 },
      axisPointer: { type: "shadow", shadowStyle: { color: theme.line, opacity: 0.4 } },
    },
    axis: {
      axisLabel: text,
      axisLine: { lineStyle: { color: theme.line } },
      axisTick: { show: false },
      splitLine: { lineStyle: { color: theme.line } },
    },
  } as const;
}
