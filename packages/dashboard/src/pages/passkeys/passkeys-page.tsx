import { Alert, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { meQuery, useMe } from "../../api/session.ts";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { passkeys as text } from "../../text/passkeys.ts";
import { AddPasskey } from "./add-passkey.tsx";
import { MadeCodes } from "./made-codes.tsx";
import { PasskeyTable } from "./passkey-table.tsx";
import { passkeysQuery } from "./queries.ts";
import { RecoveryCodes } from "./recovery-codes.tsx";

/** The signed-in person's passkeys, which work for all their organisations. */
export function PasskeysPage() {
  const { user, passkey_required: isRequired } = useMe();
  const query = useQuery(passkeysQuery);
  const client = useQueryClient();
  const [made, setMade] = useState<readonly string[] | null>(null);
  const changed = async (codes: readonly string[] | null = null): Promise<void> => {
    if (codes !== null) setMade(codes);
    await Promise.all([client.invalidateQueries(passkeysQuery), client.invalidateQueries(meQuery)]);
  };
  return (
    <Page title={text.title} lead={text.lead}>
      <QueryResult query={query}>
        {({ items, recovery_codes_left: left }) => (
          <>
            {isRequired && (
              <Alert color="orange" variant="light" role="status" title={text.operator.title}>
                {items.length === 0 ? text.operator.first : text.operator.another}
              </Alert>
            )}
            {made !== null && <MadeCodes codes={made} email={user.email} onDone={() => setMade(null)} />}
            <Section title={text.list.title}>
              {items.length === 0 ? (
                <Text size="sm">{text.list.none}</Text>
              ) : (
                <PasskeyTable passkeys={items} onChanged={changed} />
              )}
            </Section>
            <AddPasskey onAdded={changed} />
            {items.length > 0 && <RecoveryCodes left={left} onMade={changed} />}
          </>
        )}
      </QueryResult>
    </Page>
  );
}
