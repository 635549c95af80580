// The charts of money, in a file of their own: whoever does not look at them does not load them.
import { useCallback } from "react";
import Chart, { common, type Theme } from "@/charts/echart";
import { moment } from "@/parts/age";
import { fine } from "@/words/amounts";
import type { Bucket, BurnDown, Series } from "./spending";

interface SpendTerms {
  buckets: Bucket[];
  series: Series[];
  currency: string;
}

const units = (micros: number) => micros / 1_000_000;
const axisMoney = (value: number) =>
  value >= 1 || value === 0 ? value.toLocaleString("en-US") : String(Number(value.toPrecision(2)));

export function SpendChart({ buckets, series, currency }: SpendTerms) {
  const option = useCallback(
    (theme: Theme) => {
      const { axis, ...base } = common(theme);
      return {
        ...base,
        xAxis: { type: "category", data: buckets.map((bucket) => bucket.label), ...axis },
        yAxis: {
          type: "value",
          ...axis,
          axisLabel: { ...axis.axisLabel, formatter: axisMoney },
        },
        tooltip: {
          ...base.tooltip,
          valueFormatter: (value: number) => `${fine(value * 1_000_000)} ${currency}`,
        },
        series: series.map(({ name, costs }) => ({
          type: "bar",
          stack: "spend",
          barMaxWidth: 36,
          name,
          data: costs.map(units),
        })),
      };
    },
    [buckets, series, currency],
  );
  return <Chart label={`Spend over time in ${currency}, as bars; the table below has the numbers`} option={option} />;
}

const DAY_MS = 86_400_000;

/** Days where the chart spans days, else times of a day. */
function dayOrTime({ points, ahead }: BurnDown): (ms: number) => string {
  const first = points[0]?.atMs ?? 0;
  const last = (ahead.at(-1) ?? points.at(-1))?.atMs ?? 0;
  const isLong = last - first > 3 * DAY_MS;
  return (ms) => (isLong ? moment(ms).slice(0, 10) : moment(ms).slice(11, 16));
}

interface BurnTerms {
  burn: BurnDown;
  limitMicros: number;
  currency: string;
}

export function BurnChart({ burn, limitMicros, currency }: BurnTerms) {
  const option = useCallback(
    (theme: Theme) => {
      const { axis, ...base } = common(theme);
      const line = (points: BurnDown["points"]) =>
        points.map((point) => [point.atMs, units(point.leftMicros)]);
      return {
        ...base,
        xAxis: {
          type: "time",
          splitNumber: 4,
          ...axis,
          axisLabel: { ...axis.axisLabel, hideOverlap: true, formatter: dayOrTime(burn) },
          splitLine: { show: false },
        },
        yAxis: {
          type: "value",
          min: 0,
          max: units(limitMicros),
          ...axis,
          axisLabel: { ...axis.axisLabel, formatter: axisMoney },
        },
        tooltip: {
          ...base.tooltip,
          axisPointer: { type: "line", lineStyle: { color: theme.muted } },
          valueFormatter: (value: number) => `${fine(value * 1_000_000)} ${currency}`,
        },
        series: [
          {
            type: "line",
            name: "left",
            showSymbol: false,
            areaStyle: { opacity: 0.12 },
            lineStyle: { width: 2 },
            data: line(burn.points),
          },
          {
            type: "line",
            name: "at this pace",
            showSymbol: false,
            lineStyle: { width: 2, type: "dashed" },
            data: line(burn.ahead),
          },
        ],
      };
    },
    [burn, limitMicros, currency],
  );
  const end = burn.emptyMs === null ? "it lasts" : `used up ${moment(burn.emptyMs)}`;
  return <Chart label={`What is left of the budget, and at this pace: ${end}`} option={option} height={200} />;
}
