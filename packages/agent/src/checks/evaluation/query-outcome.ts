/** An engine's observation when it ran a check's query on the restored data. */
export type QueryOutcome =
  /**
   * Each row as the text of a JSON object (`parseRow`). The engine may stop after the second,
   * because two are too many already.
   */
  | {
      readonly kind: "rows";
      readonly rows: readonly string[];
      /**
       * If the engine can tell that the query read no table: it would return the same whatever was
       * restored.
       */
      readonly readsNoData?: true;
    }
  /** The database's own message; `queryErrorReason` makes it fit for a receipt. */
  | { readonly kind: "error"; readonly message: string; readonly sqlstate?: string }
  | { readonly kind: "timeout"; readonly after_s: number };
