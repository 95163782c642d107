/** What an engine saw when it ran a check's query on the restored data. */
export type QueryOutcome =
  /**
   * Each row as the text of a JSON object (`parseRow`). The engine may stop after the second: two
   * are too many already.
   */
  | {
      readonly kind: "rows";
      readonly rows: readonly string[];
      /**
       * Where the engine can tell that the query looked into no table: it would give the same
       * whatever was restored.
       */
      readonly readsNoData?: true;
    }
  /** The database's own message; `queryErrorReason` makes it fit for a receipt. */
  | { readonly kind: "error"; readonly message: string; readonly sqlstate?: string }
  | { readonly kind: "timeout"; readonly after_s: number };
