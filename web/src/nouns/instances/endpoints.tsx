// What an instance serves to people. It is opened with the command line: that gives it an origin of
// its own, where a stranger's scripts cannot reach this page.
import { useMay } from "@/app/may";
import { CommandLine } from "@/parts/copy";
import { Panel } from "@/parts/panel";
import { useEndpoints, type InstancePath } from "./queries";

export function Endpoints({ path, name }: { path: InstancePath; name: string }) {
  const isOn = useMay(path.tenant, path.project)("instance_endpoint.list");
  const { data } = useEndpoints(path, isOn);
  if (data === undefined || data.length === 0) return null;
  return (
    <Panel title="What it serves">
      <ul className="space-y-3">
        {data.map((each) => (
          <li key={each.name} className="space-y-1">
            <p>
              <b>{each.title || each.name}</b>{" "}
              <span className="text-muted">
                {each.component_key === null
                  ? `nobody of ${each.role} is ready`
                  : `served by ${each.component_key}`}
              </span>
            </p>
            <CommandLine
              command={`bailiwick app open ${name} --endpoint ${each.name} --tenant ${path.tenant} --project ${path.project}`}
            />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
