import SecurityHome from "./home";

export function Page() {
  return <SecurityHome />;
}
