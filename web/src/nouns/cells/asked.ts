// What a request to all cells asks for, of each of its members, in the command line's words. Pure.
import type { Schemas } from "@/api/client";
import { amount } from "@/words/amounts";

type Asked = Pick<
  Schemas["GlobalShown"],
  "gang_size" | "gpu_count" | "gpu_milli" | "cpu_milli" | "mem_bytes"
>;

export function askedWords(asked: Asked): string {
  const parts = [
    asked.gpu_count > 0 ? amount("gpu_milli", asked.gpu_count * asked.gpu_milli) : "",
    asked.cpu_milli > 0 ? amount("cpu_milli", asked.cpu_milli) : "",
    asked.mem_bytes > 0 ? amount("mem_bytes", asked.mem_bytes) : "",
  ];
  const one = parts.filter((part) => part !== "").join(", ") || "a default share";
  return asked.gang_size > 1 ? `${asked.gang_size} x ${one}` : one;
}
