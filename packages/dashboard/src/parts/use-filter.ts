import { useNavigate } from "@tanstack/react-router";

/** Changes what the page is filtered by, in its address; what becomes undefined is left out of that. */
export function useFilter<Search extends object>(
  search: Search,
): (more: { [Name in keyof Search]?: Search[Name] | undefined }) => void {
  const navigate = useNavigate();
  // Each page reads its own search from the address, so that nothing but names of it gets through.
  return (more) => void navigate({ to: ".", search: { ...search, ...more } as never, replace: true });
}
