export interface SocketConnection {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}
