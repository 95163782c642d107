import { plural } from "./format.ts";

/**
 * Texts shared by all pages. Use plain words, and the field's terms where they exist
 * (docs/glossary.md).
 */
export const strings = {
  navigation: {
    home: "Home",
    groups: { protect: "Protect", prove: "Prove", activity: "Activity", settings: "Settings" },
    bottom: "Main pages",
    more: "More",
    counts: {
      all: (count: number) => `${count} in all`,
      broken: (count: number) => `${count} failed or missed`,
      silent: (count: number) => `${count} silent`,
      underWay: (count: number) => `${count} under way`,
    },
  },
  account: {
    label: "Account",
    menu: (name: string) => `Account of ${name}`,
    schemes: { auto: "As the system: light or dark", light: "Light", dark: "Dark" },
  },
  shell: {
    service: "Attestore",
    navigation: "Navigation",
    skipToContent: "Skip to content",
    zone: (zone: string) => `Times are in ${zone}.`,
    signOut: "Sign out",
    stillSignedIn: "You are still signed in",
  },
  login: {
    title: "Sign in",
    email: "E-mail address",
    sendCode: "Send me a code",
    explanation: "You get a code to enter here. It is valid for 15 minutes.",
    sent: (email: string) => `If ${email} has an account, we have sent it a code.`,
    printed: (email: string) => `If ${email} has an account, its code is on the service's console.`,
    console:
      "This service has no mail server, so it prints codes where it runs: in the window of npm start, in the container's log, or in journalctl -u attestore-server.",
    code: "Code",
    codeHint: "XXXX-XXXX; upper or lower case, with or without the hyphen",
    verify: "Sign in",
    startOver: "Use another address",
    noAccount: "No account yet?",
    signup: "Sign up",
  },
  signup: {
    title: "Sign up",
    organisation: "Name of your organisation",
    sent: (email: string) => `We have sent a code to ${email}.`,
    printed: (email: string) => `The code for ${email} is on the service's console.`,
    explanation: "You get a code. It makes you the owner of a new organisation.",
    verify: "Create the organisation",
    closedTitle: "Sign-up is closed",
    closed:
      "Ask an owner of your organisation to invite you, or ask the operator of this service to create an organisation for you. Then sign in with the address they invited.",
    haveAccount: "Already have an account?",
    login: "Sign in",
  },
  failure: {
    title: "Something went wrong",
    offline: "The service does not answer. Check your network connection.",
    noService: (status: number) =>
      `Something other than the service answered, with status ${status}. If there is a proxy in between, tell the operator of this service.`,
    forbiddenTitle: "Your role does not allow this",
    noOrganisation:
      "This page belongs to an organisation. Operators can see one only by acting as one of its members, and its log records that.",
    requestId: (id: string) => `Request ${id}`,
    retry: "Try again",
    defect:
      "This is a bug in this page, not a problem with your network or your input. Reload the page. If it fails again, tell the operator of this service.",
  },
  notFound: {
    title: "Page not found",
    explanation: "The address is wrong, or you cannot see what it points to.",
    home: "Go to Home",
  },
  loading: "Loading",
  status: {
    proven: "proven",
    backed_up: "backed up only",
    failed: "failed",
    missed: "missed",
    none: "no backup yet",
  },
  copy: { copy: "Copy", copied: "Copied", failed: "Could not copy" },
  list: {
    more: "Show more",
    all: "Show all",
    came: (rows: number) => `${plural(rows, "new row", "new rows")} at the top`,
  },
  toast: {
    undo: "Undo",
    undone: "Undone.",
    again: "Try again",
    notSaved: (why: string) => `Not saved, so the page shows what was there before. ${why}`,
  },
  empty: { next: "See what to do next" },
  dialog: { cancel: "Cancel", close: "Close" },
} as const;
