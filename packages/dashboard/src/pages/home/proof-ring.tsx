import type { Source } from "../../text/home.ts";

const STATES = [
  ["proven", "var(--status-proven)"],
  ["backed_up", "var(--status-backed-up)"],
  ["none", "var(--status-none)"],
  ["missed", "var(--status-missed)"],
  ["failed", "var(--status-failed)"],
] as const satisfies readonly (readonly [Source["state"], string])[];

const RADIUS = 34;
const AROUND = 2 * Math.PI * RADIUS;
/** The font size at which one character is as wide as the ring's inside. */
const ROOM = 80;

/** How many of the sources are proven, as a ring. The heading beside it says the same in words. */
export function ProofRing({ sources }: { sources: readonly Source[] }) {
  const proven = sources.filter(({ state }) => state === "proven").length;
  const count = `${proven}/${sources.length}`;
  let at = 0;
  const arcs = STATES.flatMap(([state, colour]) => {
    const ofState = sources.filter((source) => source.state === state).length;
    if (ofState === 0) return [];
    const length = (ofState / sources.length) * AROUND;
    // A gap after each arc, unless it is the only one.
    const drawn = ofState === sources.length ? length : Math.max(1, length - 2);
    const arc = { colour, drawn, offset: -at };
    at += length;
    return [arc];
  });
  return (
    <svg width={88} height={88} viewBox="0 0 88 88" aria-hidden="true" style={{ flex: "none" }}>
      <circle cx="44" cy="44" r={RADIUS} fill="none" stroke="var(--surface-2)" strokeWidth="9" />
      <g transform="rotate(-90 44 44)" fill="none" strokeWidth="9">
        {arcs.map(({ colour, drawn, offset }) => (
          <circle
            key={colour}
            cx="44"
            cy="44"
            r={RADIUS}
            stroke={colour}
            strokeDasharray={`${drawn} ${AROUND - drawn}`}
            strokeDashoffset={offset}
          />
        ))}
      </g>
      <text
        x="44"
        y="50"
        textAnchor="middle"
        fill="currentColor"
        fontSize={Math.min(19, ROOM / count.length)}
        fontWeight="600"
      >
        {count}
      </text>
    </svg>
  );
}
