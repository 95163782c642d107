import { Age } from "../../parts/marks/age.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { backups as text } from "../../text/backups.ts";
import { suspicionWords } from "./suspicion-words.ts";
import type { Backup } from "./queries.ts";
import { refutedBy } from "./refuted-by.ts";

/**
 * When a backup was proven, and whether it is suspicious, or the last that is not. If a test of it
 * has failed since, that it is not proven; what leads to that test's receipt doesn't look like a
 * proof.
 */
export function Proof({ backup }: { backup: Backup }) {
  const receipt = refutedBy(backup);
  if (receipt === null)
    return (
      <>
        <Age at={backup.proven_at} fallback={text.notProven} />
        {suspicionWords(backup).map((word) => `, ${word}`)}
      </>
    );
  return (
    <>
      {text.refuted}
      <RecordLink id={receipt} inText>
        {text.testFailed}
      </RecordLink>
    </>
  );
}
