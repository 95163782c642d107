import { NativeSelect, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useOrgId } from "../../api/session.ts";
import { Choice, FilterBar, PeriodChoice } from "../../parts/records/filter-bar.tsx";
import { useFilter } from "../../parts/records/use-filter.ts";
import { apiLogText } from "../../text/api-logs.ts";
import { useAgents } from "../../api/use-agents.ts";
import { memberListQuery } from "./queries.ts";
import { ACTOR_KINDS, type ApiLogSearch, METHODS } from "./search-params.ts";

const text = apiLogText.filters;

/** Filters by caller, method, status and time. */
export function ApiLogFilters({ search }: { search: ApiLogSearch }) {
  const filter = useFilter(search);
  return (
    <FilterBar>
      <Choice
        label={text.kind}
        all={text.allActors}
        value={search.kind}
        choices={ACTOR_KINDS.map((kind) => [kind, apiLogText.kinds[kind]] as const)}
        onChange={(kind) => filter({ kind })}
      />
      <ActorChoice value={search.actor_id} onChange={(actor_id) => filter({ actor_id })} />
      <Choice
        label={text.method}
        all={text.all}
        value={search.method}
        choices={METHODS.map((method) => [method, method] as const)}
        onChange={(method) => filter({ method })}
      />
      <StatusField value={search.status} onChange={(status) => filter({ status })} />
      <PeriodChoice from={search.from} to={search.to} onChange={filter} />
    </FilterBar>
  );
}

interface FieldProps {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** A person or agent of the organisation. */
function ActorChoice({ value, onChange }: FieldProps) {
  const { data: members = [] } = useQuery(memberListQuery(useOrgId()));
  const agents = useAgents().all;
  const isKnown = value === undefined || [...members, ...agents].some(({ id }) => id === value);
  return (
    <NativeSelect
      label={text.actor}
      w="12rem"
      maw="100%"
      value={value ?? ""}
      onChange={({ currentTarget }) => onChange(currentTarget.value === "" ? undefined : currentTarget.value)}
      data={[
        { value: "", label: text.allActors },
        { group: text.people, items: members.map(({ id, email }) => ({ value: id, label: email })) },
        { group: text.agents, items: agents.map(({ id, name }) => ({ value: id, label: name })) },
        ...(isKnown ? [] : [{ group: text.other, items: [{ value, label: value }] }]),
      ]}
    />
  );
}

/** A status applies once it is complete. */
function StatusField({ value, onChange }: FieldProps) {
  const [typed, setTyped] = useState(value ?? "");
  const isWrong = typed !== "" && !/^[1-5]\d{0,2}$/.test(typed);
  const change = (next: string): void => {
    setTyped(next);
    if (next === "") onChange(undefined);
    else if (/^[1-5]\d\d$/.test(next)) onChange(next);
  };
  return (
    <TextInput
      label={text.status}
      placeholder={text.statusHint}
      inputMode="numeric"
      maxLength={3}
      w="7rem"
      value={typed}
      error={isWrong ? text.statusWrong : undefined}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    />
  );
}
