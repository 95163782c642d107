/**
 * Whether strangers may create organisations here; `until-operator`: as long as nobody runs the
 * service for others.
 */
export type SignupMode = "open" | "closed" | "until-operator";
