// The steps of sharing an app: how, what, with whom, and whose machines.
import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useId, type ReactNode } from "react";
import { api, ask, type Schemas } from "@/api/client";
import { readManifest, shapeSentence, type Manifest } from "@/nouns/apps/manifest";
import { ParameterFields } from "@/nouns/apps/parameters";
import { useApps, useVersions } from "@/nouns/apps/queries";
import { Badge } from "@/parts/badge";
import { Labelled, Select, TextField } from "@/parts/labelled";
import { Empty, Loaded } from "@/parts/states";
import { labelOf, type SharedWish } from "./wish";

export interface StepTerms {
  wish: SharedWish;
  set: (change: Partial<SharedWish>) => void;
}

export function Step({
  number,
  title,
  children,
}: {
  number: number;
  title: string;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section className="panel" aria-labelledby={id}>
      <header className="flex items-center gap-3 border-b border-line px-4 py-2.5">
        <span
          aria-hidden
          className="inline-flex size-6 items-center justify-center rounded-full bg-accent-soft text-xs font-semibold text-accent"
        >
          {number}
        </span>
        <h2 id={id} className="font-semibold">
          {title}
        </h2>
      </header>
      <div className="space-y-3 px-4 py-3">{children}</div>
    </section>
  );
}

// -- how ------------------------------------------------------------------------------------------

export type Mode = "project" | "tenant";

const MODES: [Mode, string, string][] = [
  [
    "project",
    "For one project alone",
    "The project owns it, pays for all of it, and nobody else submits to it.",
  ],
  [
    "tenant",
    "Shared by the tenant's projects",
    "The tenant owns one control plane. Projects have a part in it by two consents, submit to their own queues, and may give workers that stay theirs.",
  ],
];

export function ModeStep({ mode, choose }: { mode: Mode | null; choose: (mode: Mode) => void }) {
  return (
    <Step number={1} title="How it is run">
      <div role="radiogroup" aria-label="How it is run" className="grid gap-3 sm:grid-cols-2">
        {MODES.map(([word, title, told]) => (
          <label
            key={word}
            className={`flex cursor-pointer gap-3 rounded-lg border p-3 has-focus-visible:outline-2 has-focus-visible:outline-accent ${
              mode === word ? "border-accent bg-accent-soft" : "border-line hover:bg-raised"
            }`}
          >
            <input
              type="radio"
              name="mode"
              className="mt-1 accent-(--accent)"
              checked={mode === word}
              onChange={() => choose(word)}
            />
            <span>
              <span className="block font-medium">{title}</span>
              <span className="block text-sm text-muted">{told}</span>
            </span>
          </label>
        ))}
      </div>
      {mode === "project" && (
        <p>
          That has a form of its own:{" "}
          <Link to="/apps" className="link">
            choose an app
          </Link>
          , and run it in a project.
        </p>
      )}
    </Step>
  );
}

// -- what -----------------------------------------------------------------------------------------

const LOOKED_AT_MAX = 40;

/** The apps whose newest version can be shared by a tenant. */
function useShareable(apps: Schemas["App"][]) {
  return useQueries({
    queries: apps.slice(0, LOOKED_AT_MAX).map((each) => ({
      queryKey: ["apps", each.app, "versions", each.newest],
      queryFn: async () => {
        const path = { app: each.app, version: each.newest };
        const found = await ask(
          api.GET("/v1/apps/{app}/versions/{version}", { params: { path } }),
        );
        return { ...found, read: readManifest(found.manifest) };
      },
    })),
    combine: (results) => ({
      isPending: results.some((each) => each.isPending),
      names: results.flatMap((each) =>
        each.data?.read.scopes.includes("tenant") ? [each.data.app] : [],
      ),
    }),
  });
}

export function WhatStep({ wish, set, manifest }: StepTerms & { manifest: Manifest | undefined }) {
  const apps = useApps();
  const shareable = useShareable(apps.data ?? []);
  const versions = useVersions(wish.app === "" ? null : wish.app);
  const usable = (versions.data ?? []).filter((each) => each.lifecycle !== "retired");
  return (
    <Step number={2} title="What runs">
      <Loaded query={apps}>
        {() =>
          !shareable.isPending && shareable.names.length === 0 ? (
            <Empty title="No app here can be shared">
              One can if its manifest has the control plane scope <code>tenant</code>.
            </Empty>
          ) : (
            <div className="grid gap-3 sm:grid-cols-2">
              <Select
                label="App"
                value={wish.app}
                options={[["", "choose one"], ...shareable.names.map((name) => [name, name] as const)]}
                set={(app) => set({ app, version: "", reserved: {}, parameters: {}, rates: {} })}
              />
              <Select
                label="Version"
                value={wish.version}
                options={[
                  ["", "choose one"],
                  ...usable.map((each) => [each.version, each.version] as const),
                ]}
                set={(version) => set({ version })}
              />
              <TextField
                label="Name"
                value={wish.runtime}
                set={(runtime) => set({ runtime })}
                hint="What people call it."
              />
              <TextField
                label="Environment"
                value={wish.environment}
                set={(environment) => set({ environment })}
                hint="Of one app there is one in each."
              />
            </div>
          )
        }
      </Loaded>
      {manifest !== undefined && !manifest.scopes.includes("tenant") && (
        <p role="alert" className="text-bad">
          This version is not offered for sharing.
        </p>
      )}
      {manifest !== undefined && manifest.parameters.length > 0 && (
        <details>
          <summary className="cursor-pointer py-1 font-medium">
            Parameters ({manifest.parameters.length})
          </summary>
          <div className="pt-2">
            <ParameterFields
              parameters={manifest.parameters}
              typed={wish.parameters}
              set={(parameters) => set({ parameters })}
            />
          </div>
        </details>
      )}
    </Step>
  );
}

// -- with whom ------------------------------------------------------------------------------------

interface ProjectsTerms extends StepTerms {
  projects: Schemas["Project"][];
}

export function ProjectsStep({ wish, set, projects }: ProjectsTerms) {
  function toggle(project: string, isIn: boolean) {
    const rest = wish.projects.filter((each) => each !== project);
    set({ projects: isIn ? [...rest, project].sort() : rest });
  }
  return (
    <Step number={3} title="Which projects have a part">
      <p className="text-muted">
        No project is attached by itself. You allow those chosen here, for the tenant; each has a
        part once somebody of that project accepts it, and that cannot be you.
      </p>
      <ul className="grid gap-2 sm:grid-cols-2">
        {projects.map(({ project, display_name: title, is_open: isOpen }) => (
          <li key={project}>
            <label className="flex items-center gap-2 rounded-md border border-line px-3 py-2 hover:bg-raised">
              <input
                type="checkbox"
                className="accent-(--accent)"
                disabled={!isOpen}
                checked={wish.projects.includes(project)}
                onChange={(event) => toggle(project, event.target.checked)}
              />
              <span className="font-medium">{project}</span>
              <span className="min-w-0 flex-1 truncate text-muted">{title}</span>
              {!isOpen && <Badge word="closed" tone="quiet" />}
            </label>
          </li>
        ))}
      </ul>
    </Step>
  );
}

// -- whose machines -------------------------------------------------------------------------------

interface AllocationTerms extends ProjectsTerms {
  manifest: Manifest;
  labels: string[];
}

export function AllocationStep({ wish, set, projects, manifest, labels }: AllocationTerms) {
  const list = useId();
  const steers = manifest.roles.filter((role) => role.isControlPlane);
  const works = manifest.roles.filter((role) => !role.isControlPlane);
  const reserve = (role: string, many: string) =>
    set({ reserved: { ...wish.reserved, [role]: many } });
  return (
    <Step number={4} title="Controller and workers, and whose allocation each is">
      <div className="grid gap-3 sm:grid-cols-2">
        <Select
          label="Owner record"
          value={wish.owner}
          options={[
            ["", "choose one"],
            ...projects
              .filter((each) => each.is_open)
              .map((each) => [each.project, each.project] as const),
          ]}
          set={(owner) => set({ owner })}
          hint="The project whose allocation the controller and the reserved workers are."
        />
        <Labelled
          label="Nodes for the controller"
          hint={
            labelOf(wish.controller) === null
              ? "A label is written name=value."
              : "A label of nodes, as zone=a; empty for any node. The platform picks one of them."
          }
        >
          {(ids) => (
            <>
              <input
                {...ids}
                className="field"
                list={list}
                spellCheck={false}
                placeholder="any node"
                aria-invalid={labelOf(wish.controller) === null}
                value={wish.controller}
                onChange={(event) => set({ controller: event.target.value })}
              />
              <datalist id={list}>
                {labels.map((each) => (
                  <option key={each} value={each} />
                ))}
              </datalist>
            </>
          )}
        </Labelled>
      </div>
      <table className="w-full" aria-label="Controller and workers">
        <thead>
          <tr className="border-b border-line text-left text-xs text-muted">
            <th scope="col" className="py-2 pr-3 font-medium">
              what
            </th>
            <th scope="col" className="py-2 pr-3 font-medium">
              allocation of
            </th>
            <th scope="col" className="w-24 py-2 font-medium">
              how many
            </th>
          </tr>
        </thead>
        <tbody>
          {[...steers, ...works].map((role) => (
            <Row
              key={role.role}
              name={role.isControlPlane ? role.role : `${role.role}, reserved for all`}
              note={shapeSentence(role.shape)}
              whose={wish.owner || "the owner record"}
              label={`Reserved: ${role.role}`}
              value={wish.reserved[role.role] ?? ""}
              placeholder={String(role.least)}
              set={(many) => reserve(role.role, many)}
            />
          ))}
          {wish.projects.map((project) => (
            <Row
              key={`from ${project}`}
              name="worker, given"
              note={`expected: ${project} gives and takes back its own`}
              whose={project}
              label={`Expected of ${project}`}
              value={wish.expected[project] ?? ""}
              placeholder="0"
              set={(many) => set({ expected: { ...wish.expected, [project]: many } })}
            />
          ))}
        </tbody>
      </table>
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label="A withdrawn worker is back within, minutes"
          value={wish.withdrawMinutes}
          set={(withdrawMinutes) => set({ withdrawMinutes })}
          isNumber
        />
        {manifest.units
          .filter((unit) => unit.endsWith("_second"))
          .map((unit) => (
            <TextField
              key={unit}
              label={`Price of one ${unit} on another's workers`}
              value={wish.rates[unit] ?? ""}
              set={(rate) => set({ rates: { ...wish.rates, [unit]: rate } })}
              placeholder="not settled"
            />
          ))}
      </div>
    </Step>
  );
}

interface RowTerms {
  name: string;
  note: string;
  whose: string;
  label: string;
  value: string;
  placeholder: string;
  set: (value: string) => void;
}

function Row({ name, note, whose, label, value, placeholder, set }: RowTerms) {
  return (
    <tr className="border-b border-line/60 last:border-0">
      <td className="py-2 pr-3">
        {name}
        <span className="block text-xs text-muted">{note}</span>
      </td>
      <td className="py-2 pr-3 font-medium">{whose}</td>
      <td className="py-2">
        <input
          type="number"
          min={0}
          className="field"
          aria-label={label}
          value={value}
          placeholder={placeholder}
          onChange={(event) => set(event.target.value)}
        />
      </td>
    </tr>
  );
}
