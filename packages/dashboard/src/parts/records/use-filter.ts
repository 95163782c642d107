import { useNavigate } from "@tanstack/react-router";

/** Changes the page's filter in the URL; undefined values are left out. */
export function useFilter<Search extends object>(
  search: Search,
): (more: { [Name in keyof Search]?: Search[Name] | undefined }) => void {
  const navigate = useNavigate();
  // Each page parses its own URL parameters, so unknown names never get through.
  return (more) => void navigate({ to: ".", search: { ...search, ...more } as never, replace: true });
}
