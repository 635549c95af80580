import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, ask } from "@/api/client";

export function usePolicy() {
  return useQuery({
    queryKey: ["isolation"],
    queryFn: () => ask(api.GET("/v1/isolation/policy")),
  });
}

/** Every mistake of a text with its place, as one types. */
export function useLint(text: string) {
  return useQuery({
    queryKey: ["isolation", "lint", text],
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    queryFn: () => ask(api.POST("/v1/isolation/lint", { body: { text } })),
  });
}

/** What a text without mistakes would do to what runs and waits now. */
export function usePreview(text: string, isOn: boolean) {
  return useQuery({
    queryKey: ["leases", "isolation-preview", text],
    enabled: isOn,
    staleTime: 5_000,
    queryFn: () => ask(api.POST("/v1/isolation/preview", { body: { text } })),
  });
}

export function setPolicy(text: string, version: number, dryRun: boolean) {
  const params = {
    query: { dry_run: String(dryRun) },
    header: { "If-Match": `"${version}"` },
  };
  return ask(api.PUT("/v1/isolation/policy", { params, body: { text } }));
}

const PAUSE_MS = 300;

/** A text once it has stayed the same for a moment. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
