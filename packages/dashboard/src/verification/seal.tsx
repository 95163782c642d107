const POINTS = 24;
const COLOURS = {
  unverified: "var(--status-none)",
  proven: "var(--status-proven)",
  backed_up: "var(--status-backed-up)",
  failed: "var(--status-failed)",
} as const;

const SIGNS = {
  unverified: "M36 48h24",
  proven: "M34 49l10 10 19-22",
  backed_up: "M48 32v26M37 48l11 11 11-11M35 66h26",
  failed: "M36 36l24 24M60 36L36 60",
} as const;

/**
 * A receipt's seal: its outcome in colour and shape. Grey with a dash until its proof was found to
 * hold, and a red cross if it does not. The words beside it say the same.
 */
export function Seal({
  outcome: claimed,
  proof,
}: {
  outcome: "proven" | "backed_up" | "failed";
  proof: "unknown" | "held" | "failed";
}) {
  const shown = { unknown: "unverified", held: claimed, failed: "failed" } as const;
  const sign = shown[proof];
  const rim = Array.from({ length: POINTS * 2 }, (_, index) => {
    const radius = index % 2 === 0 ? 46 : 41;
    const angle = (index / POINTS) * Math.PI;
    return `${(48 + radius * Math.sin(angle)).toFixed(1)},${(48 - radius * Math.cos(angle)).toFixed(1)}`;
  });
  return (
    <svg
      width={96}
      height={96}
      viewBox="0 0 96 96"
      aria-hidden="true"
      style={{ flex: "none" }}
      data-seal={sign}
    >
      <polygon points={rim.join(" ")} fill={COLOURS[sign]} />
      <circle cx="48" cy="48" r="33" fill="none" stroke="var(--mantine-color-body)" strokeWidth="1.5" />
      <path
        d={SIGNS[sign]}
        fill="none"
        stroke="var(--mantine-color-body)"
        strokeWidth="6"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
