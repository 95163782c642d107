import { Text } from "@mantine/core";
import { checkBuilder as text, formatCount } from "../../text/check-builder.ts";
import type { PastValue } from "./past-values.ts";
import classes from "./sparkline.module.css";

const [WIDTH, HEIGHT, ROOM] = [320, 64, 4];

/** Past values, and the limit as a dashed line. The words below it say the same. */
export function Sparkline({ values, limit }: { values: readonly PastValue[]; limit: number | null }) {
  const numbers = values.map(({ value }) => value);
  if (numbers.length === 0) return <Text size="sm">{text.noPast}</Text>;
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const top = Math.max(high, limit ?? high, 1);
  const y = (value: number): number => HEIGHT - ROOM - (value / top) * (HEIGHT - 2 * ROOM);
  const x = (at: number): number =>
    numbers.length === 1 ? WIDTH / 2 : ROOM + (at / (numbers.length - 1)) * (WIDTH - 2 * ROOM);
  const points = numbers.map((value, at) => `${x(at)},${y(value)}`).join(" ");
  const [lastX, lastY] = [x(numbers.length - 1), y(numbers.at(-1) ?? 0)];
  return (
    <figure className={classes["figure"]}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
        <polyline className={classes["line"]} points={points} />
        <circle className={classes["last"]} cx={lastX} cy={lastY} r="3" />
        {limit !== null && (
          <line className={classes["limit"]} x1="0" x2={WIDTH} y1={y(limit)} y2={y(limit)} />
        )}
      </svg>
      <figcaption>
        <Text size="sm" c="dimmed">
          {text.pastOf(numbers.length, formatCount(low), formatCount(high))}
        </Text>
      </figcaption>
    </figure>
  );
}
