-- From here on the transaction belongs to one organisation (org-scope.ts). By `set local` and not by set_config(): an engine that spreads the rows over
-- several machines sends the one to all of them, where the policies ask for it. The role it connects to them as by itself.
create function attestore_scope(org text) returns void language plpgsql as $scope$
begin
  execute format('set local attestore.org_id = %L', org);
  perform set_config('role', 'attestore_tenant', true);
end $scope$;
