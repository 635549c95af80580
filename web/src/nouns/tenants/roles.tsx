// Who gets a role, and who loses it. Whoever is at home elsewhere is offered it and has to accept.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "@/api/client";
import { useMay } from "@/app/may";
import { Action } from "@/parts/confirm";
import { FormAction } from "@/parts/form-action";
import { Select, TextField } from "@/parts/labelled";
import { spell } from "@/words/amounts";

interface PlaceTerms {
  tenant: string;
  project: string | null;
}

function setMember(
  { tenant, project }: PlaceTerms,
  body: Schemas["MemberChange"],
  dryRun: boolean,
): Promise<Schemas["MemberSet"]> {
  const query = { dry_run: String(dryRun) };
  return project === null
    ? ask(api.PUT("/v1/tenants/{tenant}/members", { params: { path: { tenant }, query }, body }))
    : ask(
        api.PUT("/v1/tenants/{tenant}/projects/{project}/members", {
          params: { path: { tenant, project }, query },
          body,
        }),
      );
}

function useMaySet({ tenant, project }: PlaceTerms): boolean {
  return useMay(tenant, project)(project === null ? "tenant_member.set" : "project_member.set");
}

export function GiveRole(place: PlaceTerms) {
  const { tenant, project } = place;
  const isOn = useMaySet(place);
  const [member, setName] = useState("");
  const [role, setRole] = useState("");
  const level = project === null ? "tenant" : "project";
  const roles = useQuery({
    queryKey: ["roles", tenant, level],
    enabled: isOn,
    queryFn: async () => {
      const params = { query: { limit: 500 } };
      const found = (await ask(api.GET("/v1/roles", { params }))).items;
      return found.filter((each) => each.level === level && [null, tenant].includes(each.tenant));
    },
  });
  if (!isOn || roles.data === undefined) return null;
  const chosen = role || roles.data[0]?.role || "";
  const name = member.trim();
  return (
    <FormAction
      label="Give a role"
      title={`Give a role at ${project === null ? tenant : `${tenant}/${project}`}`}
      body={name === "" || chosen === "" ? null : { member: name, role: chosen }}
      change={(body, dryRun) => setMember(place, body, dryRun)}
      tell={(answer) =>
        answer.is_offer ? (
          <p>{name} is at home elsewhere: the role is offered, and counts once accepted.</p>
        ) : (
          <p>The role would count at once.</p>
        )
      }
      onDone={() => setName("")}
    >
      <TextField label="Who" value={member} set={setName} hint="The name of a principal." />
      <Select
        label="Role"
        value={chosen}
        set={setRole}
        options={roles.data.map((each) => [each.role, spell(each.role)] as const)}
      />
    </FormAction>
  );
}

export function TakeRole({ member, ...place }: PlaceTerms & { member: string }) {
  const isOn = useMaySet(place);
  if (!isOn) return null;
  return (
    <Action
      label={`Remove ${member}`}
      title={`Take the role of ${member} away?`}
      isBad
      change={(dryRun) => setMember(place, { member, role: null }, dryRun)}
    >
      <p>What {member} may do here is over at once. What runs goes on.</p>
    </Action>
  );
}
