import { Link } from "@tanstack/react-router";

interface Place {
  tenant: string;
  project: string;
}

export function BookingLink({ row }: { row: Place & { booking: string } }) {
  const { tenant, project, booking } = row;
  return (
    <Link
      to="/tenants/$tenant/projects/$project/bookings/$booking"
      params={{ tenant, project, booking }}
      className="link"
    >
      {booking}
    </Link>
  );
}

export function SeriesLink({ tenant, project, series }: Place & { series: string }) {
  return (
    <Link
      to="/tenants/$tenant/projects/$project/booking-series/$series"
      params={{ tenant, project, series }}
      className="link"
    >
      {series}
    </Link>
  );
}
