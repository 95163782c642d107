import { RecordLink } from "../../parts/record-link.tsx";
import { actorWords } from "./event-words.ts";
import type { LogEvent } from "./queries.ts";

/** Whose doing it was; an agent with a link to its page. */
export function ActorView({ actor: { kind, id } }: { actor: LogEvent["actor"] }) {
  if (kind === "service") return <>{actorWords(kind)}</>;
  return (
    <>
      {actorWords(kind)} <RecordLink id={id} inText>{`…${id.slice(-6)}`}</RecordLink>
    </>
  );
}
