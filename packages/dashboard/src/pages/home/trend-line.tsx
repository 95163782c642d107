import { memo } from "react";

const WIDTH = 72;
const HEIGHT = 20;

/**
 * A line of the last days' values, scaled from zero to the maximum. The words beside it say the
 * same.
 */
export const TrendLine = memo(function TrendLine({ values }: { values: readonly number[] }) {
  if (values.length < 2) return null;
  const most = Math.max(...values, 1);
  const x = (index: number): number => 1 + (index / (values.length - 1)) * (WIDTH - 4);
  const y = (value: number): number => HEIGHT - 2 - (value / most) * (HEIGHT - 4);
  const points = values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`);
  const last = values.length - 1;
  return (
    <svg width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <polyline points={points.join(" ")} fill="none" stroke="currentColor" strokeWidth="1.25" />
      <circle cx={x(last)} cy={y(values[last] ?? 0)} r="2" fill="currentColor" />
    </svg>
  );
});
