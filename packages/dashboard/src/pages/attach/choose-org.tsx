import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { orgsQuery } from "../operators/queries.ts";
import { attach } from "../../text/attach.ts";

/** For operators, who have none of their own. */
export function ChooseOrg({ value, onChange }: { value: string; onChange: (orgId: string) => void }) {
  const { data = [] } = useQuery(orgsQuery);
  return (
    <Select
      label={attach.code.org}
      required
      searchable
      data={data.map(({ id, name }) => ({ value: id, label: name }))}
      value={value === "" ? null : value}
      onChange={(chosen) => onChange(chosen ?? "")}
    />
  );
}
