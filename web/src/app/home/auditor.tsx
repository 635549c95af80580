// An auditor's home: whose journal and bills there are to read, and what does not agree.
import { useQuery } from "@tanstack/react-query";
import { api, ask } from "@/api/client";
import { Age } from "@/parts/age";
import { PlaceLink } from "@/parts/links";
import { CommandLine } from "@/parts/copy";
import { PageHead } from "@/parts/object-page";
import { Panel } from "@/parts/panel";
import { Empty, Loaded } from "@/parts/states";
import { useTenants } from "@/app/scope";

export default function AuditorHome() {
  const tenants = useTenants();
  const findings = useFindings();
  return (
    <>
      <PageHead title="Audit" />
      <div className="grid gap-4 md:grid-cols-2">
        <Panel title="Tenants" aside="choose one above to read its journal">
          <Loaded query={tenants}>
            {(rows) => (
              <ul className="space-y-1">
                {rows.map((row) => (
                  <li key={row.tenant} className="flex gap-3">
                    <PlaceLink tenant={row.tenant} project={null} />
                    <span className="truncate text-muted">{row.display_name}</span>
                  </li>
                ))}
              </ul>
            )}
          </Loaded>
        </Panel>
        <Panel title="Findings">
          <Loaded query={findings}>
            {(rows) =>
              rows.length === 0 ? (
                <Empty title="Nothing disagrees">
                  What nodes counted is what the journal says.
                </Empty>
              ) : (
                <ul className="space-y-1">
                  {rows.map((row) => (
                    <li key={row.seq} className="flex justify-between gap-3">
                      <span className="truncate">
                        {row.finding} <span className="text-muted">{row.subject}</span>
                      </span>
                      <Age ms={row.at_ms} />
                    </li>
                  ))}
                </ul>
              )
            }
          </Loaded>
        </Panel>
      </div>
      <div className="mt-4">
        <h2 className="mb-1 text-xs text-muted">Check the whole journal yourself, offline</h2>
        <CommandLine command="bailiwick journal verify" />
      </div>
    </>
  );
}

export function useFindings() {
  return useQuery({
    queryKey: ["findings"],
    queryFn: async () =>
      (await ask(api.GET("/v1/findings", { params: { query: { limit: 100 } } }))).items,
  });
}
