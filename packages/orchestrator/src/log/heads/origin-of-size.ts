/**
 * SQL for the origin of the generation to which a log's head of that size belongs: the first one
 * that ended with at least that many entries, or the present one. `logs` must be in scope.
 */
export const originOfSize = (size: string): string =>
  `coalesce((select ended from log_generations as generation where generation.org_id = logs.org_id
    and generation.tree_size >= ${size} order by generation.generation limit 1), logs.origin)`;
