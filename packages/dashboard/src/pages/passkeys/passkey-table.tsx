import type { Schemas } from "@attestore/contract/client";
import { Group } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { useMe } from "../../api/session.ts";
import { Moment } from "../../parts/marks/moment.tsx";
import { type Column, RecordTable } from "../../parts/records/record-table.tsx";
import { RemovalButton } from "../../parts/actions/removal-button.tsx";
import { passkeys as text } from "../../text/passkeys.ts";
import { RenamePasskey } from "./rename-passkey.tsx";

type Passkey = Schemas["PasskeyRecord"];

interface PasskeyTableProps {
  passkeys: readonly Passkey[];
  onChanged: () => Promise<void>;
}

export function PasskeyTable({ passkeys, onChanged }: PasskeyTableProps) {
  const { column } = text.list;
  const columns: Column<Passkey>[] = [
    { header: column.name, cell: ({ name }) => name },
    { header: column.kind, cell: ({ synced }) => (synced ? text.list.synced : text.list.bound) },
    { header: column.added, cell: ({ created_at }) => <Moment at={created_at} /> },
    {
      header: column.used,
      cell: ({ last_used_at: at }) => (at === null ? text.list.never : <Moment at={at} />),
    },
    {
      header: column.action,
      cell: (passkey) => (
        <Group gap="xs">
          <RenamePasskey passkey={passkey} onChanged={onChanged} />
          <RemovePasskey passkey={passkey} isLast={passkeys.length === 1} onChanged={onChanged} />
        </Group>
      ),
    },
  ];
  return <RecordTable caption={text.list.title} columns={columns} rows={passkeys} rowKey={({ id }) => id} />;
}

function RemovePasskey({
  passkey: { id, name },
  isLast,
  onChanged,
}: {
  passkey: Passkey;
  isLast: boolean;
  onChanged: () => Promise<void>;
}) {
  const isOperator = useMe().user.role === "operator";
  const removal = useMutation({
    mutationFn: () => api.call("delete", "/api/auth/passkeys/{passkeyID}", { path: { passkeyID: id } }),
    onSuccess: () => onChanged(),
  });
  return (
    <RemovalButton
      name={name}
      words={text.remove}
      goes={isLast ? text.remove.goesLast : text.remove.goes}
      disabledReason={isLast && isOperator ? text.remove.lastOfOperator : null}
      removal={removal}
    />
  );
}
