import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { orgsQuery } from "../operators/queries.ts";
import { attach } from "../../text/attach.ts";

/** For operators, who have no organisation. */
export function ChooseOrg({ value, onChange }: { value: string; onChange: (orgId: string) => void }) {
  const { data = [] } = useQuery(orgsQuery);
  return (
    <NativeSelect
      label={attach.code.org}
      required
      data={[
        { value: "", label: attach.code.choose },
        ...data.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
