import { strings } from "../text/strings.ts";

/** The dashboard's pages in the order of the navigation. */
export const NAVIGATION = [{ to: "/", label: strings.navigation.home }] as const;
