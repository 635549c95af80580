// Another quota or budget for a tenant or a project: a form, what would follow, then the question. It
// is there for who may set it, and is refused if somebody was faster.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "@/api/client";
import { problemOf } from "@/api/problem";
import { useMay } from "@/app/may";
import { BudgetOutlook, QuotaOutlook } from "@/parts/consequence";
import { FormAction } from "@/parts/form-action";
import { TextField } from "@/parts/labelled";
import { generation } from "@/words/amounts";
import { LIMITS, microsOf, quotaOf, typedOf, type Quota, type Typed } from "./limits";
import { useBudget } from "./queries";

interface PlaceTerms {
  tenant: string;
  project: string | null;
}

function named({ tenant, project }: PlaceTerms): string {
  return project === null ? tenant : `${tenant}/${project}`;
}

/** What was read, and the tag that says that nobody has changed it since. */
interface Tagged<T> {
  data: T;
  tag: string | null;
}

async function tagged<T>(
  call: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<Tagged<T> | null> {
  const { data, error, response } = await call;
  if (response.status === 404) return null;
  if (!response.ok) throw problemOf(error, response);
  return { data: data as T, tag: response.headers.get("etag") };
}

function tag(found: Tagged<unknown> | null | undefined): Record<string, string> {
  return found?.tag ? { "If-Match": found.tag } : {};
}

// -- quotas ------------------------------------------------------------------------------------

export function ChangeQuota(place: PlaceTerms) {
  const { tenant, project } = place;
  const may = useMay(tenant, project);
  const isOn = may(project === null ? "tenant_quota.set" : "project_quota.set");
  const found = useQuery({
    queryKey: ["quota", tenant, project, "tagged"],
    enabled: isOn,
    queryFn: () =>
      project === null
        ? tagged(api.GET("/v1/tenants/{tenant}/quota", { params: { path: { tenant } } }))
        : tagged(
            api.GET("/v1/tenants/{tenant}/projects/{project}/quota", {
              params: { path: { tenant, project } },
            }),
          ),
  });
  const [typed, setTyped] = useState<Typed | null>(null);
  if (!isOn || !found.data) return null;
  const state = found.data.data;
  const before: Quota = state.is_default ? { ...state.quota, ceiling: null } : state.quota;
  const shown = typed ?? typedOf(before);
  const put = (body: Quota, dryRun: boolean) => {
    const query = { dry_run: String(dryRun) };
    const headers = tag(found.data);
    return project === null
      ? ask(
          api.PUT("/v1/tenants/{tenant}/quota", {
            params: { path: { tenant }, query },
            headers,
            body,
          }),
        )
      : ask(
          api.PUT("/v1/tenants/{tenant}/projects/{project}/quota", {
            params: { path: { tenant, project }, query },
            headers,
            body,
          }),
        );
  };
  const set = (word: string, text: string) => setTyped({ ...shown, [word]: text });
  const kinds = Object.keys(shown).filter((word) => !LIMITS.some(([each]) => each === word));
  return (
    <FormAction
      label="Change the quota"
      title={`Quota of ${named(place)}`}
      body={typed === null ? null : quotaOf(before, typed)}
      change={put}
      tell={(answer) => <QuotaOutlook found={answer.consequence} />}
      onDone={() => setTyped(null)}
    >
      <p className="text-muted">How much may be held at once. An empty field is no limit.</p>
      <div className="grid grid-cols-2 gap-3">
        {LIMITS.map(([word, name]) => (
          <TextField
            key={word}
            label={name}
            value={shown[word] ?? ""}
            set={(text) => set(word, text)}
          />
        ))}
        {kinds.map((word) => (
          <TextField
            key={word}
            label={generation(word)}
            value={shown[word] ?? ""}
            set={(text) => set(word, text)}
          />
        ))}
      </div>
    </FormAction>
  );
}

// -- budgets -----------------------------------------------------------------------------------

const WARN = [800];

export function ChangeBudget(place: PlaceTerms) {
  const { tenant, project } = place;
  const may = useMay(tenant, project);
  const isOn = may(project === null ? "tenant_budget.set" : "project_budget.set");
  // The list says whether there is one: to ask for what is not there would look like a fault.
  const standing = useBudget(tenant, project).data;
  const found = useQuery({
    queryKey: ["budgets", tenant, project, "tagged"],
    enabled: isOn && standing !== undefined && standing !== null,
    queryFn: () =>
      project === null
        ? tagged(api.GET("/v1/tenants/{tenant}/budget", { params: { path: { tenant } } }))
        : tagged(
            api.GET("/v1/tenants/{tenant}/projects/{project}/budget", {
              params: { path: { tenant, project } },
            }),
          ),
  });
  const [typed, setTyped] = useState<{ limit: string; cap: string } | null>(null);
  if (!isOn || standing === undefined || (standing !== null && !found.data)) return null;
  const before = standing === null ? null : (found.data?.data.budget ?? null);
  const units = (micros: number | null | undefined) =>
    micros === null || micros === undefined ? "" : String(micros / 1_000_000);
  const shown = typed ?? { limit: units(before?.limit_micros), cap: units(before?.cap_micros) };
  const put = (body: Schemas["NewBudget"], dryRun: boolean) => {
    const query = { dry_run: String(dryRun) };
    const headers = before === null ? {} : tag(found.data);
    return project === null
      ? ask(
          api.PUT("/v1/tenants/{tenant}/budget", {
            params: { path: { tenant }, query },
            headers,
            body,
          }),
        )
      : ask(
          api.PUT("/v1/tenants/{tenant}/projects/{project}/budget", {
            params: { path: { tenant, project }, query },
            headers,
            body,
          }),
        );
  };
  return (
    <FormAction
      label={before === null ? "Set a budget" : "Change the budget"}
      title={`Budget of ${named(place)}`}
      body={typed === null ? null : budgetOf(before, typed)}
      change={put}
      tell={(answer) => <BudgetOutlook found={answer.consequence} />}
      onDone={() => setTyped(null)}
    >
      <p className="text-muted">
        Above the limit nothing new starts; the cap also ends what would cost more.
        {before === null && " A new budget counts from the beginning, and warns at four fifths."}
      </p>
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label="Limit"
          value={shown.limit}
          set={(limit) => setTyped({ ...shown, limit })}
        />
        <TextField
          label="Hard cap (optional)"
          value={shown.cap}
          set={(cap) => setTyped({ ...shown, cap })}
        />
      </div>
    </FormAction>
  );
}

function budgetOf(
  before: Schemas["Budget"] | null,
  typed: { limit: string; cap: string },
): Schemas["NewBudget"] | null {
  const limit = microsOf(typed.limit);
  const cap = typed.cap.trim() === "" ? null : microsOf(typed.cap);
  if (limit === null || (cap === null && typed.cap.trim() !== "")) return null;
  return { ...(before ?? { thresholds: WARN }), limit_micros: limit, cap_micros: cap };
}
