import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useOrgId } from "../../../api/session.ts";
import { showToast } from "../../../parts/feedback/toasts.ts";
import { sourceText } from "../../../text/sources.ts";
import type { Command } from "../../commands/command-state.ts";
import { receiptQuery } from "../../receipts/queries.ts";
import type { Source } from "../queries.ts";

const text = sourceText.trigger.finished;

/** Says once of each command that it ended with a receipt, and what that found. */
export function useSayFinished({ name }: Source, commands: readonly Command[]): void {
  const client = useQueryClient();
  const orgId = useOrgId();
  const said = useRef(new Set<string>());
  useEffect(() => {
    for (const { id, kind, outcome } of commands) {
      if (outcome.receipt_id === undefined || said.current.has(id)) continue;
      said.current.add(id);
      if (kind === "backup") showToast(text.backup(name));
      else
        client.fetchQuery(receiptQuery(orgId, outcome.receipt_id)).then(
          ({ result }) => showToast(text[result ?? "ended"](name)),
          () => showToast(text.ended(name)),
        );
    }
  }, [client, commands, name, orgId]);
}
